"""Legacy optimizers as a host holds them: one file per API they were written for."""
