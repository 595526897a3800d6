"""Octavia's API for uwsgi; Debian ships it only with a server of its own that cannot have several workers."""
import os

from octavia.api import app

application = app.setup_app(argv=['octavia-api', '--config-file', os.environ['OCTAVIA_SETTINGS']])
