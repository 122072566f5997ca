"""Recovery of true performance from labeled and unlabeled rows."""
