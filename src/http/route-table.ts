import type { Route } from './route.ts';
import {
  bundleRevisionRoute,
  bundleRevisionsRoute,
  bundleRoute,
  listBundlesRoute,
  publishBundleRoute,
  rollbackBundleRoute,
} from './routes/bundles.ts';
import { catalogDiagnosticsRoute } from './routes/catalog-diagnostics.ts';
import { catalogPromptRoute } from './routes/catalog-prompt.ts';
import { catalogRoute } from './routes/catalog.ts';
import { healthRoute, readyRoute } from './routes/health.ts';
import { loadSkillResourceRoute } from './routes/load-skill-resource.ts';
import { loadSkillRoute } from './routes/load-skill.ts';
import { listActivationsRoute, releaseActivationRoute, releaseSessionRoute } from './routes/sessions.ts';
import { skillRoute } from './routes/skill.ts';
import { toolsRoute } from './routes/tools.ts';
import { beginUploadRoute, completeUploadRoute, uploadRoute } from './routes/uploads.ts';
import { validateRoute } from './routes/validate.ts';

/** Every route. What is not here does not exist, and what is not `public` needs a credential. */
export const ROUTES: readonly Route[] = [
  catalogRoute,
  catalogPromptRoute,
  catalogDiagnosticsRoute,
  skillRoute,
  toolsRoute,
  loadSkillRoute,
  loadSkillResourceRoute,
  listActivationsRoute,
  releaseActivationRoute,
  releaseSessionRoute,
  listBundlesRoute,
  bundleRoute,
  publishBundleRoute,
  bundleRevisionsRoute,
  bundleRevisionRoute,
  rollbackBundleRoute,
  beginUploadRoute,
  uploadRoute,
  completeUploadRoute,
  validateRoute,
  healthRoute,
  readyRoute,
];
