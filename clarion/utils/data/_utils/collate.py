"""`torch.utils.data._utils.collate`: the table of `default_collate`, to look at or to extend."""

from ....data.collate import collate as collate
from ....data.collate import collate_float_fn as collate_float_fn
from ....data.collate import collate_int_fn as collate_int_fn
from ....data.collate import collate_numpy_array_fn as collate_numpy_array_fn
from ....data.collate import collate_numpy_scalar_fn as collate_numpy_scalar_fn
from ....data.collate import collate_str_fn as collate_str_fn
from ....data.collate import collate_tensor_fn as collate_tensor_fn
from ....data.collate import default_collate as default_collate
from ....data.collate import default_collate_err_msg_format as default_collate_err_msg_format
from ....data.collate import default_collate_fn_map as default_collate_fn_map
from ....data.collate import default_convert as default_convert
