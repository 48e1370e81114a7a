acceleval show blak_scholes
