"""Models fitted from moments."""
