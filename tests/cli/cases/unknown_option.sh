acceleval eval --quik
