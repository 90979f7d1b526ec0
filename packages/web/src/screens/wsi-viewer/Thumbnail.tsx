import { IconPhoto } from '@tabler/icons-react';
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { thumbnailUrl } from '../../api/images.ts';
import classes from './ImageCatalog.module.css';
import { thumbnailQueue } from './thumbnail-queue.ts';

interface ThumbnailProps {
  readonly imageId: string;
  /** Id of the image session (the credential of pixels) to load it with; null while there is none. */
  readonly session: string | null;
  readonly onFailed: () => void;
}

/**
 * The thumbnail of a slide; a grey icon until it is loaded, and when it cannot be loaded. It keeps the image session with which it was
 * loaded, so that a new session does not reload all visible thumbnails. Only thumbnails that failed are loaded with the new session.
 */
export function Thumbnail({ imageId, session, onFailed }: ThumbnailProps) {
  const [usedSession, setUsedSession] = useState(session);
  const [hasFailed, setFailed] = useState(false);
  /** Whether the queue of thumbnails has given this one a slot. */
  const [canLoad, setCanLoad] = useState(false);
  /** Leaves the queue of thumbnails, which frees the slot for another one. */
  const leave = useRef(() => {});
  // Set during rendering, so that the thumbnail is never requested with a session that has failed.
  if (session !== null && session !== usedSession && (hasFailed || usedSession === null)) {
    setUsedSession(session);
    setFailed(false);
  }

  const isWanted = usedSession !== null && !hasFailed;
  useLayoutEffect(() => {
    if (!isWanted) return;
    leave.current = thumbnailQueue.ask(() => setCanLoad(true));
    return () => {
      leave.current();
      setCanLoad(false);
    };
  }, [isWanted]);

  const stopLoadingWhenRemoved = useCallback((picture: HTMLImageElement) => {
    return () => picture.removeAttribute('src'); // otherwise the browser continues to load an image that was removed from the page
  }, []);

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {isWanted && canLoad && (
        <img
          ref={stopLoadingWhenRemoved}
          src={thumbnailUrl(imageId, usedSession)}
          alt=""
          decoding="async"
          fetchPriority="low"
          onLoad={() => leave.current()}
          onError={() => {
            setFailed(true);
            onFailed();
          }}
        />
      )}
    </span>
  );
}
