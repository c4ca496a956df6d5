"""Traces as a function of the model for torch: from htwave.torch import Propagator."""
import torch

from ._library import Error


class _Traces(torch.autograd.Function):
    @staticmethod
    def forward(ctx, model, shot, names, *tensors):
        arrays = {name: tensor.detach().cpu().numpy() for name, tensor in zip(names, tensors)}
        model.set(**arrays)
        traces = model.forward(shot, record=any(tensor.requires_grad for tensor in tensors))
        ctx.of = model, shot, {name: array.copy() for name, array in arrays.items()}
        ctx.record, ctx.like = model.record, tensors
        ctx.several = isinstance(traces, list)
        like = tensors[0]
        made = [torch.from_numpy(group.copy()).to(like) for group in
                (traces if ctx.several else [traces])]
        return tuple(made) if ctx.several else made[0]

    @staticmethod
    def backward(ctx, *residual):
        model, shot, arrays = ctx.of
        if model.record is not ctx.record:  # other calls came between
            model.set(**arrays)
            model.forward(shot, record=True)
        residual = [group.detach().cpu().numpy() for group in residual]
        found = model.backward(residual if ctx.several else residual[0])
        return (None, None, None) + tuple(torch.from_numpy(found[name]).to(like)
                                          for name, like in zip(arrays, ctx.like))


class Propagator:
    """propagator(c, shot=3): the traces of a shot as a tensor [trace, sample], or a tuple of them, with
    derivatives by tensors of the model's arrays, in the order of `names` (the model's by default).

    backward uses what the last call has recorded; after another call it runs the shot again."""

    def __init__(self, model, *names):
        self.model, self.names = model, names or tuple(model.parameters)

    def __call__(self, *tensors, shot=0):
        if len(tensors) != len(self.names):
            raise Error(f"{len(tensors)} tensors: must be those of {', '.join(self.names)}")
        return _Traces.apply(self.model, shot, self.names, *tensors)
