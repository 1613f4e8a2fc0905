"""How sure an AUC is, and thresholds that keep a promise."""
