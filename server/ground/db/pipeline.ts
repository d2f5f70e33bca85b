/** Session settings of the connections that the pipeline (accept, claims, ledger, posts) runs on. Decision 0012. */

// The pipeline's few statements are prepared and look keys up. One plan for all batches, made without the statistics that a new day does
// not have yet, must not scan: with these settings it cannot. `npm run bench -- --only statements` compares with the planner's own choice.
export const pipelineSettings: Record<string, string> = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
}
