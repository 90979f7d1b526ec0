import { IconPhoto } from '@tabler/icons-react';
import { useState } from 'react';
import { imageSessions } from '../../api/image-sessions.ts';
import { thumbnailAddress } from '../../api/images.ts';
import classes from './SlideManagement.module.css';

interface SlideThumbnailProps {
  readonly imageId: string;
  /** Image session to load it with; null shows none. */
  readonly session: string | null;
}

/**
 * The slide, small: a grey icon until it is there, and when it cannot be had. It keeps the session that it was loaded
 * with, unless that had ended.
 */
export function SlideThumbnail({ imageId, session }: SlideThumbnailProps) {
  const [used, setUsed] = useState(session);
  const [failed, setFailed] = useState<string | null>(null);
  if (session !== null && session !== used && (used === null || failed === used)) setUsed(session);

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {session !== null && used !== null && failed !== used && (
        <img
          src={thumbnailAddress(imageId, used)}
          alt=""
          loading="lazy"
          decoding="async"
          fetchPriority="low"
          onError={() => {
            setFailed(used);
            // An <img> does not tell why it failed. If the session has ended, a new one lets it try again.
            imageSessions.get().catch(() => undefined);
          }}
        />
      )}
    </span>
  );
}
