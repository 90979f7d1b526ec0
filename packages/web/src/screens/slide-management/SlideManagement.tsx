import { Button, Group, Text, Title } from '@mantine/core';
import { IconFileSpreadsheet, IconUpload } from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { imageSessions } from '../../api/image-sessions.ts';
import { Loading } from '../../components/Loading.tsx';
import { texts as shared } from '../../language/texts.ts';
import { CatalogueFile } from './CatalogueFile.tsx';
import { SlideList } from './SlideList.tsx';
import classes from './SlideManagement.module.css';
import { texts } from './texts.ts';

/** With the library that sends files: most visits send none. */
const UploadPanel = lazy(async () => ({ default: (await import('./uploads/UploadPanel.tsx')).UploadPanel }));

type Part = 'upload' | 'file';

/** Administration › slides: every entry of the catalogue, what can be done to it, and the catalogue as a file. */
export function SlideManagement() {
  const [open, setOpen] = useState<Part | null>(null);
  const toggle = (part: Part) => setOpen(open === part ? null : part);
  // Thumbnails need an image session, as in the viewer.
  useEffect(() => {
    const leave = imageSessions.registerViewer();
    imageSessions.get().catch(() => undefined); // there is a grey icon instead
    return leave;
  }, []);

  return (
    <>
      <Title order={1} mb="xs">
        {texts.heading}
      </Title>
      <Text c="dimmed" mb="lg">
        {texts.hint}
      </Text>
      <div className={classes.parts}>
        <Group gap="xs">
          <Button
            size="sm"
            leftSection={<IconUpload size={18} aria-hidden />}
            aria-expanded={open === 'upload'}
            onClick={() => toggle('upload')}
          >
            {texts.upload}
          </Button>
          <Button
            size="sm"
            variant="default"
            leftSection={<IconFileSpreadsheet size={18} aria-hidden />}
            aria-expanded={open === 'file'}
            onClick={() => toggle('file')}
          >
            {texts.catalogueFile}
          </Button>
        </Group>
        {open === 'upload' && (
          <Suspense fallback={<Loading label={shared.loading} />}>
            <UploadPanel />
          </Suspense>
        )}
        {open === 'file' && <CatalogueFile />}
        <SlideList />
      </div>
    </>
  );
}
