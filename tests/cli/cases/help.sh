acceleval help
