"""Pages of HTML that need nothing but themselves."""
