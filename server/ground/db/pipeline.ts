// Session settings of the pipeline (accept, claims, ledger, posts); decision 0012. Its statements are prepared and look up keys. A new day
// has no statistics: without these settings one plan for all batches might scan.
export const pipelineSettings: Record<string, string> = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
}
