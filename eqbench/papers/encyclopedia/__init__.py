"""The encyclopedia article on Kuhn poker: two players, and the family for three in a nutshell."""
