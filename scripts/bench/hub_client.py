"""Downloads one file as the Python hub client does: hub_client.py REPOSITORY FILE; the path it lies at afterwards goes to stdout."""

import sys

from huggingface_hub import hf_hub_download

print(hf_hub_download(sys.argv[1], sys.argv[2]))
