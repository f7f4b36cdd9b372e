from layer import Layer
MUTANTS = Layer()
