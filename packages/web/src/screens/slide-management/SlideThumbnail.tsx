import { IconPhoto } from '@tabler/icons-react';
import { useState } from 'react';
import { imageSessions } from '../../api/image-sessions.ts';
import { thumbnailUrl } from '../../api/images.ts';
import classes from './SlideManagement.module.css';

interface SlideThumbnailProps {
  readonly imageId: string;
  /** Id of the image session (the credential for loading pixels) to load the thumbnail with; null shows only the icon. */
  readonly session: string | null;
}

/**
 * The thumbnail of a slide in the slide list, or a grey icon before it is loaded and after loading has failed. With a new image session,
 * the thumbnail is loaded again only if it failed with the previous session.
 */
export function SlideThumbnail({ imageId, session }: SlideThumbnailProps) {
  /** The session in the URL of the thumbnail; null until there is one. */
  const [usedSession, setUsedSession] = useState(session);
  /** The session with which loading has failed; null before a failure. */
  const [failedSession, setFailedSession] = useState<string | null>(null);
  const needsNewSession = usedSession === null || failedSession === usedSession;
  // Set during rendering, so that the thumbnail is never requested with a session that has failed.
  if (session !== null && session !== usedSession && needsNewSession) setUsedSession(session);

  return (
    <span className={classes.thumbnail}>
      <IconPhoto size={20} aria-hidden />
      {session !== null && usedSession !== null && failedSession !== usedSession && (
        <img
          src={thumbnailUrl(imageId, usedSession)}
          alt=""
          loading="lazy"
          decoding="async"
          fetchPriority="low"
          onError={() => {
            setFailedSession(usedSession);
            // The error may mean that the session has expired: `get` then creates a new one, and the thumbnail is loaded again.
            imageSessions.get().catch(() => undefined);
          }}
        />
      )}
    </span>
  );
}
