import { Button, Group, Text, Title } from '@mantine/core';
import { IconFileSpreadsheet, IconUpload } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { imageSessions } from '../../api/image-sessions.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { lazyPart } from '../../components/lazy-part.tsx';
import { texts as sharedTexts } from '../../language/texts.ts';
import { CatalogueFile } from './CatalogueFile.tsx';
import { SlideList } from './SlideList.tsx';
import classes from './SlideManagement.module.css';
import { texts } from './texts.ts';

/** Loaded on demand with the library for tus (a protocol for resumable uploads), because most visits to this screen upload nothing. */
const UploadPanel = lazyPart(
  async () => (await import('./uploads/UploadPanel.tsx')).UploadPanel,
  ({ onRetry }) => <LoadFailed message={sharedTexts.partFailed} onRetry={onRetry} />,
  () => <Loading label={sharedTexts.loading} />,
);

/** A section that a button opens above the list: uploads, or import and export of the catalogue as a CSV file. */
type Section = 'upload' | 'file';

/**
 * The slides screen of administrators: the list of all catalogue entries with actions on them, uploads, and the import and export of the
 * catalogue as a CSV file.
 */
export function SlideManagement() {
  const [openSection, setOpenSection] = useState<Section | null>(null);
  const toggle = (section: Section) => setOpenSection(openSection === section ? null : section);
  // Thumbnails need an image session (the credential for loading pixels). The sessions end when no viewer is registered, so this
  // screen registers as one.
  useEffect(() => {
    const unregister = imageSessions.registerViewer();
    imageSessions.get().catch(() => undefined); // creates the session for the rows; after a failure, the rows show a grey icon
    return unregister;
  }, []);

  return (
    <>
      <Title order={1} mb="xs">
        {texts.heading}
      </Title>
      <Text c="dimmed" mb="lg">
        {texts.hint}
      </Text>
      <div className={classes.sections}>
        <Group gap="xs">
          <Button
            size="sm"
            leftSection={<IconUpload size={18} aria-hidden />}
            aria-expanded={openSection === 'upload'}
            onClick={() => toggle('upload')}
          >
            {texts.upload}
          </Button>
          <Button
            size="sm"
            variant="default"
            leftSection={<IconFileSpreadsheet size={18} aria-hidden />}
            aria-expanded={openSection === 'file'}
            onClick={() => toggle('file')}
          >
            {texts.catalogueFile}
          </Button>
        </Group>
        {openSection === 'upload' && <UploadPanel />}
        {openSection === 'file' && <CatalogueFile />}
        <SlideList />
      </div>
    </>
  );
}
