acceleval eval
