/** All endpoints of the API by name. The server registers a route for each, and the documentation lists them. */
import * as annotationClasses from './annotation-classes.ts';
import * as annotationFiles from './annotation-files.ts';
import * as annotationLayers from './annotation-layers.ts';
import * as annotations from './annotations.ts';
import * as apiTokens from './api-tokens.ts';
import * as applications from './applications.ts';
import * as audit from './audit.ts';
import * as auth from './auth.ts';
import * as cases from './cases.ts';
import * as collections from './collections.ts';
import * as datasets from './datasets.ts';
import * as dicomweb from './dicomweb.ts';
import type { Endpoint } from './endpoint.ts';
import * as iiif from './iiif.ts';
import * as imageGroups from './image-groups.ts';
import * as imageSessions from './image-sessions.ts';
import * as images from './images.ts';
import * as originals from './originals.ts';
import * as overlays from './overlays.ts';
import * as resultLayers from './result-layers.ts';
import * as savedViews from './saved-views.ts';
import * as secondFactor from './second-factor.ts';
import * as shareLinks from './share-links.ts';
import * as signIns from './sign-ins.ts';
import * as slideManagement from './slide-management.ts';
import * as uploads from './uploads.ts';
import * as userManagement from './user-management.ts';
import * as users from './users.ts';

/** Returns the endpoints among the exports of a module: the objects with the property `access`. */
function endpointsOf(moduleExports: object): Record<string, Endpoint> {
  return Object.fromEntries(
    Object.entries(moduleExports).filter(
      ([, value]) => typeof value === 'object' && value !== null && 'access' in value,
    ),
  );
}

export const endpoints: Readonly<Record<string, Endpoint>> = {
  ...endpointsOf(auth),
  ...endpointsOf(users),
  ...endpointsOf(userManagement),
  ...endpointsOf(applications),
  ...endpointsOf(apiTokens),
  ...endpointsOf(signIns),
  ...endpointsOf(secondFactor),
  ...endpointsOf(audit),
  ...endpointsOf(imageSessions),
  ...endpointsOf(images),
  ...endpointsOf(imageGroups),
  ...endpointsOf(iiif),
  ...endpointsOf(annotationLayers),
  ...endpointsOf(annotations),
  ...endpointsOf(annotationFiles),
  ...endpointsOf(annotationClasses),
  ...endpointsOf(resultLayers),
  ...endpointsOf(overlays),
  ...endpointsOf(dicomweb),
  ...endpointsOf(originals),
  ...endpointsOf(datasets),
  ...endpointsOf(cases),
  ...endpointsOf(savedViews),
  ...endpointsOf(collections),
  ...endpointsOf(shareLinks),
  ...endpointsOf(slideManagement),
  ...endpointsOf(uploads),
};
