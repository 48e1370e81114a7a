mkdir empty; acceleval eval empty
