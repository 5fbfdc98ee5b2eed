"""Stands for the downloader that llama.cpp's tests import: against a running server they fetch nothing."""


def download(*arguments, **options):
    raise RuntimeError("nothing is fetched here")
