"""Lab 4, *Reservation policies*."""
