acceleval show dtw_distance
