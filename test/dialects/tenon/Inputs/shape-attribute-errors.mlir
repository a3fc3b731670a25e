func.func private @operator_alone() attributes {a = #tenon.shape<* 2>}

// -----

func.func private @open_bracket() attributes {a = #tenon.shape<(N + 1>}

// -----

func.func private @two_words() attributes {a = #tenon.shape<N H>}
