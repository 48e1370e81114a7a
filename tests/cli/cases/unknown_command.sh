acceleval evla
