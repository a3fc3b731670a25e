
BprobabilitiesJ(F»2`Η>/λο3VXl1Πÿ?Λkω0IφΖ5ΩΆ5w³3Άk2