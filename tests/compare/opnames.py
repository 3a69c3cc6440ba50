"""Which entries of PyTorch's operator database clarion is compared on.

A name stands for all entries of that name (max has three).  Aliases such as
concat or swapaxes are not listed: they are compared with the entry they belong
to.  Methods without an entry at all, such as type_as, are tested elsewhere.
"""

REQUIRED = """
    add sub mul div pow neg abs sign exp log log1p expm1 sqrt rsqrt reciprocal square
    sin cos tan tanh sigmoid nn.functional.relu nn.functional.gelu nn.functional.silu
    softmax log_softmax logsumexp clamp minimum maximum where masked_fill
    __radd__ __rsub__ __rmul__ __rdiv__ __rpow__ __rmatmul__
    matmul mm bmm mv dot outer addmm baddbmm nn.functional.linear einsum
    sum mean prod var std norm max min amax amin argmax argmin any all cumsum sort topk
    reshape view flatten transpose permute t squeeze unsqueeze expand repeat
    cat stack split chunk unbind narrow select flip roll tril triu
    gather scatter scatter_add index_select index_add index_put masked_select
    clone contiguous to float double
    eq ne lt le gt ge logical_and logical_or logical_xor logical_not
    nn.functional.cross_entropy nn.functional.nll_loss nn.functional.mse_loss
    nn.functional.layer_norm nn.functional.embedding nn.functional.dropout
    nn.functional.scaled_dot_product_attention __getitem__
    zeros ones full empty arange linspace eye zeros_like ones_like full_like empty_like
    rand_like randn randn_like new_zeros new_ones new_full new_empty
""".split()

EXTRA = """
    float_power rsub exp2 log2 log10 sinh cosh asin acos atan asinh acosh atanh
    nn.functional.softmin clamp_min clamp_max fmin fmax
    vdot addmv addbmm addr addcmul addcdiv var_mean std_mean linalg.norm linalg.vector_norm
    aminmax cumprod argsort msort kthvalue median nanmedian nansum nanmean
    reshape_as view_as unflatten ravel T mT H mH movedim expand_as repeat_interleave tile
    hstack vstack dstack split_with_sizes tensor_split narrow_copy slice fliplr flipud rot90
    diag diagonal diag_embed trace scatter_reduce index_copy index_fill masked_scatter
    take take_along_dim put half bfloat16 int long short bool byte char chalf
    isclose allclose equal item bitwise_and bitwise_or bitwise_xor bitwise_not
    isnan isinf isfinite fill zero_
    nn.functional.l1_loss nn.functional.smooth_l1_loss nn.functional.one_hot
    nn.functional.pad floor ceil round trunc frac fmod remainder floor_divide true_divide
    atan2 hypot lerp cross cdist unique unique_consecutive nonzero count_nonzero bincount
    searchsorted bucketize logspace tril_indices triu_indices meshgrid cartesian_prod
    broadcast_to broadcast_tensors atleast_1d atleast_2d atleast_3d
    as_strided as_strided_scatter select_scatter slice_scatter diagonal_scatter unfold
    cummax cummin logcumsumexp diff real imag conj conj_physical angle
    view_as_real view_as_complex complex polar sgn signbit positive nan_to_num
    erf erfc lgamma digamma xlogy logaddexp logaddexp2 heaviside dist renorm kron
    tensordot inner logit nn.functional.softplus nn.functional.leaky_relu
    nn.functional.elu nn.functional.selu nn.functional.celu nn.functional.hardtanh
    nn.functional.relu6 nn.functional.hardsigmoid nn.functional.hardswish
    nn.functional.mish nn.functional.logsigmoid nn.functional.threshold
    nn.functional.prelu nn.functional.rrelu nn.functional.glu nn.functional.normalize
    nn.functional.cosine_similarity nn.functional.binary_cross_entropy
    nn.functional.binary_cross_entropy_with_logits nn.functional.kl_div
    nn.functional.huber_loss nn.functional.margin_ranking_loss nn.functional.multi_margin_loss
    nn.functional.multilabel_margin_loss nn.functional.multilabel_soft_margin_loss
    nn.functional.triplet_margin_loss nn.functional.embedding_bag nn.functional.ctc_loss
    nn.functional.cosine_embedding_loss nn.functional.gaussian_nll_loss
    nn.functional.hinge_embedding_loss nn.functional.poisson_nll_loss nn.functional.pdist
    nn.functional.bilinear nn.functional.grid_sample grid_sampler_2d grid_sampler_3d
    fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.hfft2 fft.ihfft2
    fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.hfftn fft.ihfftn fft.fftshift fft.ifftshift
    linalg.solve_triangular cholesky_solve cholesky_inverse triangular_solve
    nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d
    nn.functional.conv_transpose1d nn.functional.conv_transpose2d nn.functional.conv_transpose3d
    nn.functional.avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.max_pool1d
    nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool2d nn.functional.adaptive_avg_pool3d
    nn.functional.adaptive_max_pool1d nn.functional.adaptive_max_pool2d nn.functional.adaptive_max_pool3d
    nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d
    nn.functional.batch_norm nn.functional.instance_norm nn.functional.group_norm
    nn.functional.local_response_norm nn.functional.interpolate nn.functional.unfold
    nn.functional.upsample_nearest nn.functional.upsample_bilinear
    nn.functional.pixel_shuffle nn.functional.pixel_unshuffle nn.functional.channel_shuffle
    nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d
    isin quantile nanquantile corrcoef gradient unravel_index frexp histogram histogramdd nonzero_static
    matrix_exp lu lu_solve lu_unpack linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.lstsq linalg.matrix_rank
    linalg.cond linalg.vander unsafe_chunk unsafe_split alias_copy as_strided_copy expand_copy permute_copy
    split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy unfold_copy unsqueeze_copy view_copy
    geqrf ormqr linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.eig linalg.eigvals linalg.eigh linalg.eigvalsh
    linalg.householder_product linalg.tensorinv linalg.tensorsolve special.i1 special.i1e
    special.chebyshev_polynomial_t special.chebyshev_polynomial_u special.chebyshev_polynomial_v special.chebyshev_polynomial_w
    special.hermite_polynomial_h special.hermite_polynomial_he special.laguerre_polynomial_l special.legendre_polynomial_p
    masked.sum masked.prod masked.amax masked.amin masked.argmax masked.argmin masked.mean masked.median masked.var masked.std
    _softmax_backward_data torch.ops.aten._safe_softmax.default _chunk_cat _unsafe_masked_index _unsafe_masked_index_put_accumulate
    _native_batch_norm_legit _batch_norm_with_update native_dropout_backward empty_strided new_empty_strided empty_permuted
    masked.cumsum masked.cumprod masked.softmax masked.log_softmax masked.softmin masked.normalize masked.logaddexp masked.logsumexp
""".split()
