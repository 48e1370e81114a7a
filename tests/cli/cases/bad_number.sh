acceleval eval --entrant parallel --timed many
