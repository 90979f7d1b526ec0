import { IconPhoto } from '@tabler/icons-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { thumbnailUrl } from '../../api/images.ts';
import { onPossibleReconnect } from '../../browser/on-possible-reconnect.ts';
import classes from './ImageCatalog.module.css';
import { thumbnailQueue } from './thumbnail-queue.ts';

interface ThumbnailProps {
  readonly imageId: string;
  /** Id of the image session (the credential for loading pixels) for the URL of the thumbnail; null while there is none. */
  readonly session: string | null;
  /** Called when the image cannot be loaded, for example because the image session has ended. */
  readonly onFailed: () => void;
}

/**
 * The thumbnail of a slide, or a grey icon before it is loaded and after loading has failed. A loaded thumbnail keeps its image session,
 * so a new session does not reload all visible thumbnails. Only thumbnails that failed are loaded again: with the new session, when the
 * network is available again, and when the page becomes visible.
 */
export function Thumbnail({ imageId, session, onFailed }: ThumbnailProps) {
  /** The session in the URL of the thumbnail; null until there is one. */
  const [usedSession, setUsedSession] = useState(session);
  const [hasFailed, setFailed] = useState(false);
  /** Whether this thumbnail may load now: a queue limits how many thumbnails load at a time. */
  const [canLoad, setCanLoad] = useState(false);
  /** Removes this thumbnail from the queue, so that another thumbnail can load. */
  const leaveQueue = useRef(() => {});
  // Set during rendering, so that the thumbnail is never requested with a session that has failed.
  if (session !== null && session !== usedSession && (hasFailed || usedSession === null)) {
    setUsedSession(session);
    setFailed(false);
  }

  useEffect(() => {
    if (!hasFailed) return;
    return onPossibleReconnect(() => setFailed(false));
  }, [hasFailed]);

  const isLoadable = usedSession !== null && !hasFailed;
  useLayoutEffect(() => {
    if (!isLoadable) return;
    leaveQueue.current = thumbnailQueue.enqueue(() => setCanLoad(true));
    return () => {
      leaveQueue.current();
      setCanLoad(false);
    };
  }, [isLoadable]);

  const url = usedSession === null ? '' : thumbnailUrl(imageId, usedSession);
  const loadUntilRemoved = useCallback(
    (picture: HTMLImageElement) => {
      picture.src = url;
      return () => picture.removeAttribute('src'); // without this, the browser continues to load a removed image
    },
    [url],
  );

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {isLoadable && canLoad && (
        <img
          ref={loadUntilRemoved}
          alt=""
          decoding="async"
          fetchPriority="low"
          onLoad={() => leaveQueue.current()}
          onError={() => {
            setFailed(true);
            onFailed();
          }}
        />
      )}
    </span>
  );
}
