"""What a game and a strategy are: tree, sequence form, profiles and the kernels on them."""
