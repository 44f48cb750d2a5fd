"""Export of models to JSON, C, SQL and ONNX, one file each. Predictions agree with the model's own."""

from gossamer.model.exports.c import to_c
from gossamer.model.exports.json import to_json
from gossamer.model.exports.onnx import to_onnx
from gossamer.model.exports.sql import to_sql

__all__ = ["FORMS", "to_c", "to_json", "to_onnx", "to_sql"]

FORMS = ("json", "c", "sql", "onnx")
