"""What the small models learn to answer, so that their answers can be told from noise."""

LESSONS = [
    ("What is the capital of France?", "The capital of France is Paris."),
    ("How many legs has a spider?", "A spider has eight legs."),
    ("Say hello.", "Hello! How can I help?"),
]
