"""Copies an HDF5 file with all numbers in the other byte order: other_order.py FROM TO"""

import sys

import h5py


def other(dtype):
    return dtype.newbyteorder("S") if dtype.kind in "iuf" else dtype


def copy_attributes(source, target):
    for name, value in source.attrs.items():
        target.attrs.create(name, value, dtype=other(source.attrs.get_id(name).dtype))


with h5py.File(sys.argv[1]) as source, h5py.File(sys.argv[2], "w", libver=("v108", "v108")) as target:
    copy_attributes(source, target)

    def visit(name, item):
        if isinstance(item, h5py.Dataset):
            copy_attributes(item, target.create_dataset(name, data=item[()], dtype=other(item.dtype)))

    source.visititems(visit)
