"""The objects of hurray that stand for those of the model."""

from model import (
    BlockPaged,
    ColMajor,
    Compressed,
    Coo,
    Csf,
    Hilbert,
    Morton,
    Private,
    RowMajor,
    Strided,
    Tiled,
)

import hurray


def hurray_layout(layout):
    """The Python object for a layout of the model."""
    match layout:
        case RowMajor():
            return hurray.RowMajorLayout()
        case ColMajor():
            return hurray.ColMajorLayout()
        case Strided():
            return hurray.StridedLayout(layout.strides)
        case Tiled():
            inner = layout.inner_tiled
            return hurray.TiledLayout(
                layout.tile_shape,
                layout.outer_layout,
                layout.inner_layout,
                layout.outer_strides,
                layout.inner_strides,
                inner and hurray_layout(inner),
            )
        case Morton():
            return hurray.MortonLayout(layout.morton_bits)
        case Hilbert():
            return hurray.HilbertLayout(layout.hilbert_order, layout.hilbert_rank)
        case Coo():
            return hurray.CooLayout(layout.nnz, layout.is_sorted)
        case Compressed():
            return (hurray.CscLayout if layout.major else hurray.CsrLayout)(layout.nnz)
        case Csf():
            return hurray.CsfLayout(layout.nnz, layout.mode_order)
        case BlockPaged():
            return hurray.BlockPagedLayout(
                layout.page_size,
                layout.num_pages,
                layout.paged_axis,
                layout.num_seqs,
                layout.kv_role,
                layout.layer_index,
                layout.block_table_index_type,
            )
        case Private():
            return hurray.PrivateExtensionLayout(
                layout.tag, layout.extension_layout_id, layout.extension_data
            )
