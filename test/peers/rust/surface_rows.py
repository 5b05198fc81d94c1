"""The rows of docs/surface.md: the operation of visa or the reason, whether the items are read, and patterns of items."""

ROWS = [
    # Tensors and the device.
    ("`!tm.hbm`, `!tm.dm`, `!tm.spm`", True, "HbmTensor HbmTensorView HbmTensorViewMut DmTensor DmTensorView DmTensorViewMut SpmTensor"),
]
