import type { Image } from '@lamina/contract';
import { Button } from '@mantine/core';
import { IconShare } from '@tabler/icons-react';
import { useState } from 'react';
import { makeShareLink } from '../../api/share-links.ts';
import { ShareDialog } from '../../components/ShareDialog.tsx';
import { texts } from './texts.ts';

/** A button that opens the dialog in which a user creates a share link to a slide. */
export function ShareSlide({ image }: { readonly image: Image }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        mt="xs"
        leftSection={<IconShare size={16} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        {texts.share}
      </Button>
      {isOpen && (
        <ShareDialog
          heading={texts.shareHeading}
          target={{ type: 'slide', id: image.id }}
          languageBeforeChoice="en" // until the user chooses a language
          onCreate={makeShareLink}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
