import { IconPhoto } from '@tabler/icons-react';
import { useState } from 'react';
import { thumbnailAddress } from '../../api/images.ts';
import classes from './ImageCatalog.module.css';

interface ThumbnailProps {
  readonly imageId: string;
  /** Image session to load it with; null while there is none. */
  readonly session: string | null;
  readonly onFailed: () => void;
}

/**
 * The slide, small: a grey icon until it is there, and when it cannot be had. It keeps the session it was
 * loaded with, so that a renewal does not load the whole catalogue again, unless it had failed.
 */
export function Thumbnail({ imageId, session, onFailed }: ThumbnailProps) {
  const [usedSession, setUsedSession] = useState(session);
  const [hasFailed, setFailed] = useState(false);
  if (session !== null && session !== usedSession && (hasFailed || usedSession === null)) {
    setUsedSession(session);
    setFailed(false);
  }

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {usedSession !== null && !hasFailed && (
        <img
          src={thumbnailAddress(imageId, usedSession)}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => {
            setFailed(true);
            onFailed();
          }}
        />
      )}
    </span>
  );
}
