"""From a question to its answer: rules asked, changes judged, the sum proven, files written."""
