import { IconPhoto } from '@tabler/icons-react';
import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import { thumbnailAddress } from '../../api/images.ts';
import classes from './ImageCatalog.module.css';
import { thumbnailQueue } from './thumbnail-gate.ts';

interface ThumbnailProps {
  readonly imageId: string;
  /** Image session to load it with; null while there is none. */
  readonly session: string | null;
  readonly onFailed: () => void;
}

/**
 * The thumbnail of a slide; a grey icon until it is loaded, and when loading fails. It keeps the image session it was loaded
 * with, so that a renewed session does not reload all visible thumbnails; only failed ones load again.
 */
export function Thumbnail({ imageId, session, onFailed }: ThumbnailProps) {
  const [usedSession, setUsedSession] = useState(session);
  const [hasFailed, setFailed] = useState(false);
  const [canLoad, setCanLoad] = useState(false);
  const leave = useRef(() => {});
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

  const cancelWhenGone = useCallback((picture: HTMLImageElement) => {
    return () => picture.removeAttribute('src'); // an image that is only removed from the page keeps loading
  }, []);

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {isWanted && canLoad && (
        <img
          ref={cancelWhenGone}
          src={thumbnailAddress(imageId, usedSession)}
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
