"""Laws that every functional and every kind of evidence must keep."""
