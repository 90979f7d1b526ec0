/** Every endpoint of the API, by name. The server serves each, the documentation lists each. */
import * as audit from './audit.ts';
import * as auth from './auth.ts';
import * as datasets from './datasets.ts';
import type { Endpoint } from './endpoint.ts';
import * as imageSessions from './image-sessions.ts';
import * as images from './images.ts';
import * as secondFactor from './second-factor.ts';
import * as signIns from './sign-ins.ts';
import * as slideManagement from './slide-management.ts';
import * as uploads from './uploads.ts';
import * as users from './users.ts';

function endpointsOf(resource: object): Record<string, Endpoint> {
  return Object.fromEntries(
    Object.entries(resource).filter(
      ([, value]) => typeof value === 'object' && value !== null && 'access' in value,
    ),
  );
}

export const endpoints: Readonly<Record<string, Endpoint>> = {
  ...endpointsOf(auth),
  ...endpointsOf(users),
  ...endpointsOf(signIns),
  ...endpointsOf(secondFactor),
  ...endpointsOf(audit),
  ...endpointsOf(imageSessions),
  ...endpointsOf(images),
  ...endpointsOf(datasets),
  ...endpointsOf(slideManagement),
  ...endpointsOf(uploads),
};
