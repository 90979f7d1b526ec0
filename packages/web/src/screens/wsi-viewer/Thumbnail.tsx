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
 * The slide, small: a grey icon until it is there, and when it cannot be had. It keeps the session it was
 * loaded with, so that a renewal does not load everything in sight again, unless it had failed.
 */
export function Thumbnail({ imageId, session, onFailed }: ThumbnailProps) {
  const [usedSession, setUsedSession] = useState(session);
  const [hasFailed, setFailed] = useState(false);
  const [isItsTurn, setItsTurn] = useState(false);
  const leave = useRef(() => {});
  if (session !== null && session !== usedSession && (hasFailed || usedSession === null)) {
    setUsedSession(session);
    setFailed(false);
  }

  const isWanted = usedSession !== null && !hasFailed;
  useLayoutEffect(() => {
    if (!isWanted) return;
    leave.current = thumbnailQueue.ask(() => setItsTurn(true));
    return () => {
      leave.current();
      setItsTurn(false);
    };
  }, [isWanted]);

  const cancelWhenGone = useCallback((picture: HTMLImageElement) => {
    return () => picture.removeAttribute('src'); // taken out of the page alone it would go on loading
  }, []);

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {isWanted && isItsTurn && (
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
