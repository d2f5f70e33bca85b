/** Session settings of the connections that the pipeline (accept, claims, ledger, posts) runs on. Decision 0012. */

// The pipeline's statements are prepared and look up keys. A new day has no statistics: without these settings one plan for all batches might scan.
export const pipelineSettings: Record<string, string> = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
}
