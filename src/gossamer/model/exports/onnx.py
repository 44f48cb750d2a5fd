"""Export of a model as an ONNX graph."""

from __future__ import annotations

from typing import Any, assert_never

import numpy as np

from gossamer.losses import Link
from gossamer.model.model import Model, is_code, refuse_offset
from gossamer.validation import Array


def to_onnx(model: Model) -> bytes:
    """Return an ONNX graph in double precision: input `X`, outputs `label` and `probabilities`, or `variable`.

    Only the columns with weights are read. If the loss has no probabilities, the output is `scores` instead.
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper
    except ImportError:
        raise ImportError("ONNX needs the package onnx: pip install 'gossamer[onnx]'.") from None
    refuse_offset(model, "ONNX")
    k = len(model.intercept)
    link: Link = model.loss.predicts
    nodes, constants = [], []

    def constant(name: str, array: Array) -> str:
        constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(kind: str, inputs: list[str], output: str, **settings: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **settings))
        return output

    if len(model.features):
        picked = node("Gather", ["X", constant("features", model.features)], "picked", axis=1)
        product = node("MatMul", [picked, constant("W", model.weights)], "product")
    else:
        first = node("Gather", ["X", constant("features", np.zeros(1, np.int64))], "picked", axis=1)
        product = node("MatMul", [first, constant("W", np.zeros((1, k)))], "product")
    z = node("Add", [product, constant("b", model.intercept)], "z")
    outputs = []

    def linked(output: str) -> str:
        """Return what the loss predicts from z."""
        match link:
            case Link.IDENTITY:
                return node("Identity", [z], output)
            case Link.EXP:
                return node("Exp", [z], output)
            case Link.SIGMOID:
                return node("Sigmoid", [z], output)
            case Link.SIGMOID_OF_TWICE:
                return node("Sigmoid", [node("Mul", [z, constant("two", np.array([2.0]))], "twice")], output)
            case Link.SOFTMAX:
                return node("Softmax", [z], output, axis=1)
            case Link.OWN:
                raise is_code(model.loss)
            case unknown:
                assert_never(unknown)

    if model.kind == "regression":
        outputs.append(helper.make_tensor_value_info(linked("variable"), TensorProto.DOUBLE, [None, k]))
    else:
        zero = constant("zero", np.zeros(1))
        p = linked("p") if model.probabilistic else z
        if model.kind == "binary" and model.probabilistic:
            rest = node("Sub", [constant("one", np.ones(1)), p], "rest")
            p = node("Concat", [rest, p], "both", axis=1)
        if model.kind == "one_vs_rest" and model.probabilistic:
            total = node("ReduceSum", [p, constant("axis", np.array([1], np.int64))], "total", keepdims=1)
            shares = node("Div", [p, total], "shares")
            same = constant("same", np.full((1, k), 1.0 / k))  # if all of them are zero
            p = node("Where", [node("Greater", [total, zero], "some"), shares, same], "chances")
        name = node("Identity", [p], "probabilities" if model.probabilistic else "scores")
        if model.kind == "multilabel":
            label = node("Cast", [node("Greater", [z, zero], "above")], "label", to=TensorProto.INT64)
            outputs.append(helper.make_tensor_value_info(label, TensorProto.INT64, [None, k]))
        else:
            if model.kind == "binary":
                above = node("Cast", [node("Greater", [z, zero], "above")], "place", to=TensorProto.INT64)
                place = node("Squeeze", [above, constant("columns", np.array([1], np.int64))], "flat")
            else:
                place = node("ArgMax", [z], "flat", axis=1, keepdims=0)
            assert model.classes is not None
            words = model.classes.dtype.kind == "U"
            if words:
                values = helper.make_tensor(
                    "classes", TensorProto.STRING, [len(model.classes)], [c.encode() for c in model.classes.tolist()]
                )
                constants.append(values)
            else:
                whole = model.classes.dtype.kind in "biu"
                if whole and model.classes.max() > np.iinfo(np.int64).max:
                    raise ValueError(f"ONNX has whole numbers up to 2^63 − 1; a class is {model.classes.max()}.")
                constant("classes", model.classes.astype(np.int64 if whole else np.float64))
            label = node("Gather", ["classes", place], "label", axis=0)
            kind = TensorProto.STRING if words else TensorProto.INT64 if whole else TensorProto.DOUBLE
            outputs.append(helper.make_tensor_value_info(label, kind, [None]))
        outputs.append(helper.make_tensor_value_info(name, TensorProto.DOUBLE, [None, None]))
    x = helper.make_tensor_value_info("X", TensorProto.DOUBLE, [None, max(model.n_features, 1)])
    graph = helper.make_graph(nodes, "gossamer", [x], outputs, constants)
    made = helper.make_model(graph, producer_name="gossamer", opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(made)
    return bytes(made.SerializeToString())
