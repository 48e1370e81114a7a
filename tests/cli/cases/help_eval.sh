acceleval eval --help
