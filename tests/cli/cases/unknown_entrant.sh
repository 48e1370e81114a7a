acceleval eval --entrant nobody
