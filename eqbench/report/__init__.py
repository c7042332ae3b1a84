"""What people look at: a function of what is stored and of games; it runs nothing."""
