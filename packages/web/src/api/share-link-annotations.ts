/** API calls for the annotations of a slide, for visitors who have opened a share link and have no account. */
import { AppError, listAnnotationLayers, listAnnotations } from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { call, download } from './client.ts';
import { retryInterval } from './query-client.ts';

/** The annotations of one layer. */
export interface ShareLinkFeatures {
  readonly layerId: string;
  /** Features as the server sends them, not yet validated. */
  readonly features: readonly unknown[];
}

/** Loads the annotations that a share link shows on a slide, layer by layer. @param session image session (credential) of the link */
export function useShareLinkAnnotations(imageId: string, session: string) {
  return useQuery({
    queryKey: ['share-link-annotations', imageId, session],
    queryFn: async ({ signal }): Promise<readonly ShareLinkFeatures[]> => {
      const { layers } = await call(listAnnotationLayers, {
        params: { imageId },
        query: { session },
        signal,
      });
      return Promise.all(
        layers.map(async ({ id }) => {
          // `call` would return no content, because the response is GeoJSON and has no schema in the contract.
          const file = await download(listAnnotations, {
            params: { layerId: id },
            query: { session },
            signal,
          });
          const { features = [] } = JSON.parse(await file.text()) as Partial<
            Pick<ShareLinkFeatures, 'features'>
          >;
          return { layerId: id, features };
        }),
      );
    },
    retry: (count, error) => count < 3 && !(error instanceof AppError), // error responses of the API are not retried
    refetchInterval: retryInterval,
    gcTime: 0,
  });
}
