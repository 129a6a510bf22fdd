"""Running the span machine inside an engine that samples by itself: what needs no knowledge of which engine it is."""
