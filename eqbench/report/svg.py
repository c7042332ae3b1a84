"""Colors of pictures."""

INK, GRAY, PALE = "#1f2933", "#6b7280", "#9aa1ab"
# A player's number stands in white on the color, and in ink on the light one.
COLORS = ("#0072b2", "#c04f00", "#007a5a", "#a34d80", "#6b5500", "#4b4b9f")
LIGHT = ("#aad0e5", "#eac4aa", "#aad2c8", "#e0c3d4", "#cdc6aa", "#c3c3df")
