"""What the checks of the Python clients share: the address, the model, and one line for each check."""
import os
import sys
import traceback

url = os.environ["HEARTH_URL"].rstrip("/")
model = os.environ["HEARTH_MODEL"]
key = os.environ.get("HEARTH_KEY", "none")
failed = []
count = 0

# A red square of 2 by 2 pixels.
picture = (
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=="
)
weather = {
    "type": "object", "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}}, "required": ["city"],
    "additionalProperties": False,
}
person = {
    "type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
    "required": ["name", "age"], "additionalProperties": False,
}


def check(function):
    """Runs a function as a check and reports it."""
    global count
    count += 1
    try:
        function()
        print(f"ok    {os.path.basename(sys.argv[0])} {function.__name__}", flush=True)
    except Exception:
        failed.append(function.__name__)
        print(f"FAIL  {os.path.basename(sys.argv[0])} {function.__name__}", flush=True)
        traceback.print_exc()
    return function


def raises(kind, function):
    """The error that a call raises; fails if it raises another one or none."""
    try:
        function()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def finish():
    print(f"{os.path.basename(sys.argv[0])}: {count - len(failed)} of {count}", flush=True)
    sys.exit(1 if failed else 0)
