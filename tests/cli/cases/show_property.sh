acceleval show crew_pairing
